"""What happens when processes are killed and parts refuse."""

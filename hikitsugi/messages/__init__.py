"""Every sentence a person reads, Japanese beside English."""

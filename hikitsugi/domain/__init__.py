"""Pure models and rules; knows nobody else in the house."""

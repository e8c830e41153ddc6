"""The forge in a browser: issues and pull requests to read and to answer."""

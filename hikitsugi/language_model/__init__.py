"""The Anthropic client, the scripted model server and the prompts."""

"""The whole product between a development forge and a scripted model."""

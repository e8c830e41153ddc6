"""The whole job, offline: a forge, a scripted model and the real product between them."""

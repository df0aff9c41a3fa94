"""Host-side helpers: tensor descriptors, microscaling formats."""

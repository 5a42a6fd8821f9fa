"""What the other rooms of masks share: errors and small containers."""

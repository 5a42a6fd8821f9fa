"""From written types to types, and what is known of them."""

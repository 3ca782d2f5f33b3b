"""From a drive log to the constants of a contact law."""

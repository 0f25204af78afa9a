"""What steps over files share: streams, the choice of names, decoders."""

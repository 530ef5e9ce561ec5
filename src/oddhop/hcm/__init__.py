"""HCM, the detector of the paper: hop counts learned by a graph convolutional network."""

"""The ground floor: frozen values and pure arithmetic, standard library only, no input or output."""

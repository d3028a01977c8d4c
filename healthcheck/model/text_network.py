"""Texts about looks at HCAs, their PCIe slots and GPUDirect."""

NETWORK_TEXTS: dict[str, str] = {}

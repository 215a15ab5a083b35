    // A channel `C` from the memory to the engine: each register on the way has what the one before had (stations.py).
    always @* assert (LAST_m_axi_Cready);

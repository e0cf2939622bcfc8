// The other sources are compiled after the pass of the plugin PersistCoreData.

// Off Apple's platforms, the plugin PersistCoreData compiles the other sources of this target.

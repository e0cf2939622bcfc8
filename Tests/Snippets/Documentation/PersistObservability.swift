// <block 0>

// <block 1>

func alerted(_ coordinator: PersistentStoreCoordinator, _ logger: Logger) async {
  // <block 2>
}

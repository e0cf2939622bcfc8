import Persist

func log(_ text: String) {}
func offerRetry(_ text: String) {}
func showConflict(_ id: ManagedObjectID, _ values: [String: StoredValue]) {}
func mark(_ entity: String?, _ property: String?, _ message: String) {}

func saved(_ context: ManagedObjectContext) throws {
  // <block 0>
}

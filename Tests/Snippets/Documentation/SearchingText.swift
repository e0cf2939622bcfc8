import Persist

func searched(_ context: ManagedObjectContext, typed: String) throws {
  // <block 0>
  // <block 1>
  // <block 2>
}

import Foundation
import Persist

func recorded(_ coordinator: PersistentStoreCoordinator, _ context: ManagedObjectContext, _ url: URL) throws {
  // <block 0>
}

func kept(
  _ coordinator: PersistentStoreCoordinator, _ context: ManagedObjectContext, _ url: URL, _ token: HistoryToken
) throws {
  // <block 1>
}

func followed(_ context: ManagedObjectContext, _ token: inout HistoryToken?) throws {
  // <block 2>
}

func selected(_ context: ManagedObjectContext, _ yesterday: Date) throws {
  // <block 3>
  print(transactions.count, deleted.count)
}

func noticed(_ coordinator: PersistentStoreCoordinator) async {
  // <block 4>
}

func purged(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 5>
}

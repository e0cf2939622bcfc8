import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Automatic merging while a store is busy")
struct BusyStoreMergingTests {
  private static let model = ModelDescription(entities: [
    EntityDescription("Person", attributes: [AttributeDescription("name", .string)])
  ])

  private func open(_ url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.model))
    try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
    return coordinator
  }

  /// Contexts that wake up at the same time keep each other from asking the store.
  @Test(
    "A save by others that arrives while the store can't be asked is noticed afterward",
    .aboutFiles("the counter of changes in SQLite's file"), .timeLimit(.minutes(10)))
  func arrival() throws {
    try withTemporaryFile { url in
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      context.automaticallyMergesChangesFromParent = true
      let signal = SaveSignal(context, try DependentEntities(of: FetchRequest<ManagedObject>("Person"), in: context))
      _ = signal.take()
      let store = try #require(coordinator.openStores.first as? SQLiteStore)
      var seen = signal.count
      try store.pool.withWriter { _ in
        let other = ManagedObjectContext(try open(url))
        try other.make("Person")
        try other.save()
        while signal.count == seen { Thread.sleep(forTimeInterval: 0.001) }
        seen = signal.count
        #expect(!signal.take())
      }
      while signal.count == seen { Thread.sleep(forTimeInterval: 0.001) }
      #expect(signal.take())
    }
  }
}

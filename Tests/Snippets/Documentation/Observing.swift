import Foundation
import Persist

final class Person: ManagedObject {
  var name: String { self["name"] as? String ?? "" }
}

@MainActor struct List {
  func show(_ sections: [FetchedResultsSnapshot.Section], reloading ids: Set<ManagedObjectID>) {}
}

@MainActor struct Screen {
  let viewContext: ManagedObjectContext

  func task(_ body: @MainActor () async -> Void) {}

  func watched() {
    self
      // <block 2>
  }
}

// <block 0>

@MainActor func merged(_ background: ManagedObjectContext, _ viewContext: ManagedObjectContext) {
  // <block 1>
}

@MainActor func sections(_ viewContext: ManagedObjectContext) throws {
  // <block 3>
}

@MainActor func listed(_ controller: FetchedResultsController<Person>, _ list: List) async {
  // <block 4>
}

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
      // <block 4>
  }
}

// <block 0>

// <block 1>

@MainActor func followed(_ person: Person, in context: ManagedObjectContext) async {
  // <block 2>
}

@MainActor func merged(_ background: ManagedObjectContext, _ viewContext: ManagedObjectContext) {
  // <block 3>
}

@MainActor func sections(_ viewContext: ManagedObjectContext) throws {
  // <block 5>
}

@MainActor func listed(_ controller: FetchedResultsController<Person>, _ list: List) async {
  // <block 6>
}

import Foundation
import Observation
import Persist
import PersistMacrosless
import Synchronization
import Testing


private final class Owner: ManagedObject {
  @Attribute var name = ""
  @Relationship var items: RelationshipSet<Thing>
}

private final class Thing: ManagedObject {
  @Attribute var name = ""
  @Attribute var count = 0
  @Attribute var price: Decimal = 0
  @Attribute var isOnSale = false
  @Attribute var weight: Double?
  @Attribute var addedAt = Date(timeIntervalSinceReferenceDate: 0)
  @Relationship(inverse: \Owner.items) var owner: Owner?
}

/// A class's properties tracked by the standard library's macro have their own observers.
@Observable private final class Screen: ManagedObject {
  @ObservationIgnored @Attribute var title = ""
  var isSelected = false
}

@Suite("Observation of declared properties")
struct TrackingTests {
  private func isTold(_ read: () -> Void, _ change: () -> Void) -> Bool {
    let told = Mutex(false)
    withObservationTracking(read) { told.withLock { $0 = true } }
    change()
    return told.withLock { $0 }
  }

  @Test("Each declared property notifies those who have read it, and nobody else")
  func properties() throws {
    let context = try makeContext(Owner.self, Thing.self)
    let (thing, owner) = (Thing(context: context), Owner(context: context))
    try context.save()
    #expect(isTold({ _ = thing.name }, { thing.name = "Tea" }))
    #expect(isTold({ _ = thing.count }, { thing.count = 1 }))
    #expect(isTold({ _ = thing.price }, { thing.price = 1 }))
    #expect(isTold({ _ = thing.isOnSale }, { thing.isOnSale = true }))
    #expect(isTold({ _ = thing.weight }, { thing.weight = 1 }))
    #expect(isTold({ _ = thing.addedAt }, { thing.addedAt = Date() }))
    #expect(isTold({ _ = thing.owner }, { owner.items.insert(thing) }))
    #expect(isTold({ _ = owner.items.map(\.name) }, { thing.owner = nil }))
    #expect(isTold({ _ = thing.owner?.name }, { thing.owner = owner }))
    #expect(isTold({ _ = thing.owner?.name }, { owner.name = "Ann" }))
    #expect(!isTold({ _ = thing.owner?.name }, { thing.name = "Coffee" }))
    #expect(!isTold({ _ = thing.name }, { thing.count = 2 }))
  }

  @Test("A class with the standard library's macro compiles, and both kinds of properties notify")
  func macro() throws {
    let context = try makeContext(Screen.self)
    let screen = Screen(context: context)
    #expect(isTold({ _ = screen.title }, { screen.title = "Tea" }))
    #expect(isTold({ _ = screen.isSelected }, { screen.isSelected = true }))
    #expect(!isTold({ _ = screen.isSelected }, { screen.title = "Coffee" }))
  }

  @Test("The standard library's sequence of observed values follows an object") @MainActor
  func values() async throws {
    let context = try makeContext(Owner.self, Thing.self)
    let owner = Owner(context: context)
    owner.name = "Ann"
    var names: [String] = []
    for await name in Observations({ owner.name }) {
      names.append(name)
      if names.count == 3 { break }
      let next = "Bea \(names.count)"
      Task { owner.name = next }
    }
    #expect(names == ["Ann", "Bea 1", "Bea 2"])
  }
}

import Foundation
import Persist
import PersistMacrosless
import Testing

private enum Kind: String, StorableValue, CaseIterable, Codable { case home, work }

private struct Position: CompositeValue {
  var latitude = 0.0
  var longitude = 0.0
}

private struct Address: CompositeValue {
  var street = ""
  var city = ""
  var floor: Int?
  var isOld = false
  var kind = Kind.home
  var position = Position()
  var since = Date(timeIntervalSinceReferenceDate: 0)
  var plan = Data()
}

private final class Branch: ManagedObject {
  @Attribute var name = ""
  @Composite var address = Address()
  @Composite var delivery: Address?
  @Relationship(inverse: \Company.branches) var company: Company?
}

private final class Company: ManagedObject {
  @Attribute var name = ""
  @Relationship var branches: RelationshipSet<Branch>
}

@Suite("Parts of composite attributes by key path")
struct CompositePartTests {
  private func withBranches(_ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Branch.self, Company.self))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    let company = Company(context: context)
    company.name = "Tea Ltd"
    for (index, city) in ["Rome", "Oslo", "Lima"].enumerated() {
      let branch = Branch(context: context)
      branch.name = city
      branch.address = Address(
        street: "High Street", city: city, floor: index == 0 ? nil : index, isOld: index == 1,
        kind: index == 2 ? .work : .home, position: Position(latitude: Double(index), longitude: 7),
        since: Date(timeIntervalSinceReferenceDate: Double(index)), plan: Data([UInt8(index)]))
      if index == 2 { branch.delivery = Address(city: "Cuzco") }
      branch.company = index == 0 ? nil : company
    }
    try context.save()
    try body(ManagedObjectContext(coordinator))
  }

  private static let predicates: [(TypedPredicate<Branch>, TypedPredicate<Branch>, [String])] = [
    (\.address.city == "Rome", TypedPredicate { $0.address.city == "Rome" }, ["Rome"]),
    ((\Branch.address.city).beginsWith("L"), TypedPredicate { $0.address.city.beginsWith("L") }, ["Lima"]),
    (\.address.floor == nil, TypedPredicate { $0.address.floor == nil }, ["Rome"]),
    (\.address.isOld == true, TypedPredicate { $0.address.isOld == true }, ["Oslo"]),
    (TypedPredicate { $0.address.kind == Kind.work }, TypedPredicate { $0.address.kind == .work }, ["Lima"]),
    (\.address.position.latitude > 0, TypedPredicate { $0.address.position.latitude > 0 }, ["Lima", "Oslo"]),
    (TypedPredicate { $0.delivery.city == "Cuzco" }, TypedPredicate { $0.delivery.city == "Cuzco" }, ["Lima"]),
    (
      \.address.since < Date(timeIntervalSinceReferenceDate: 1),
      TypedPredicate { $0.address.since < Date(timeIntervalSinceReferenceDate: 1) }, ["Rome"]
    ),
    (\.address.plan == Data([2]), TypedPredicate { $0.address.plan == Data([2]) }, ["Lima"]),
  ]

  @Test("A part is used like a property, by a key path and in a closure", arguments: 0..<9)
  func parts(index: Int) throws {
    let (keyPath, closure, names) = Self.predicates[index]
    try withBranches { context in
      try #expect(context.fetch(Branch.where(keyPath).sorted(by: \.name)).map(\.name) == names)
      try #expect(context.fetch(Branch.where(closure).sorted(by: \.name)).map(\.name) == names)
    }
  }

  @Test("Parts of members and of related objects can be used, also of all members")
  func related() throws {
    try withBranches { context in
      try #expect(context.fetch(Company.where { $0.branches.contains { $0.address.city == "Oslo" } }).count == 1)
      try #expect(
        context.fetch(Company.where((\Company.branches).allSatisfy(\.address.position.longitude == 7))).count == 1)
      try #expect(context.fetch(Company.where { $0.branches.allSatisfy { $0.address.isOld == true } }).isEmpty)
    }
  }

  @Test("An ambiguous part is refused, and never replaced by the whole")
  func untold() throws {
    try withBranches { context in
      let error = #expect(throws: PersistenceError.self) { try context.fetch(Branch.where(\.address.kind == .work)) }
      #expect(error?.code == .invalidPredicate)
      try #expect(context.fetch(Branch.where(\.delivery?.city == "Cuzco")).map(\.name) == ["Lima"])
    }
  }

  @Test("A computed value of a part is refused with a message")
  func computed() throws {
    try withBranches { context in
      let error = #expect(throws: PersistenceError.self) {
        try context.fetch(Branch.where(\.address.position.latitude.magnitude == 1))
      }
      #expect(error?.code == .invalidPredicate)
    }
  }
}

import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopGenerated
import Testing

private final class Plot: ManagedObject {}

/// The classes in `Examples/ShopGenerated`, which `persist generate` wrote from the sample model.
@Suite("Generated classes")
struct GeneratedClassTests {
  private static func model(_ version: String = "Shop 3") throws -> ManagedObjectModel {
    try ModelRegistry(contentsOf: PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld"))
      .version(named: version).model
  }

  private static func context(_ store: URL, _ version: String = "Shop 3") throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try model(version))
    try coordinator.addStore(at: store)
    return ManagedObjectContext(coordinator, classes: ShopEntityClasses.all.byEntity)
  }

  @Test("Values set through generated properties are saved, and read again after reopening")
  func values() throws {
    let (date, number) = (Date(timeIntervalSinceReferenceDate: 12.5), UUID())
    try withTemporaryStore { store in
      do {
        let context = try Self.context(store)
        let item = Item(context: context)
        #expect(item.name == "New Item")
        #expect(item.quantity == 1)
        item.name = "Tea"
        item.quantity = 7
        item.price = Decimal(2.5)
        item.onSale = true
        item.addedAt = date
        item.barcode = number
        item.photo = Data([1, 2, 3])
        try context.save()
      }
      let context = try Self.context(store)
      let item = try #require(try context.fetch(Item.fetchRequest()).first)
      #expect(item.name == "Tea")
      #expect(item.quantity == 7)
      #expect(item.price == Decimal(2.5))
      #expect(item.onSale)
      #expect(item.addedAt == date)
      #expect(item.barcode == number)
      #expect(item.photo == Data([1, 2, 3]))
      item.photo = nil
      try context.save()
      context.reset()
      try #expect(#require(context.fetch(Item.fetchRequest()).first).photo == nil)
    }
  }

  @Test("Relationships have Core Data's accessors, and both sides agree")
  func relationships() throws {
    try withTemporaryStore { store in
      let context = try Self.context(store)
      let item = Item(context: context)
      let tags = ["black", "green", "white"].map { text in
        let tag = Tag(context: context)
        tag.text = text
        return tag
      }
      item.addToTags(tags[0])
      item.addToTags(tags)
      #expect(item.tags.count == 3)
      #expect(tags[1].items.contains(item))
      item.removeFromTags(tags.prefix(2))
      #expect(Array(item.tags) == [tags[2]])
      item.removeFromTags(tags[2])
      #expect(item.tags.isEmpty)

      let reviews = (0..<4).map { _ in Review(context: context) }
      item.insertIntoReviews(reviews[1], at: 0)
      item.insertIntoReviews([reviews[0], reviews[2]], at: [0, 2])
      #expect(Array(item.reviews) == Array(reviews.prefix(3)))
      #expect(reviews[2].item === item)
      item.replaceReviews(at: 1, with: reviews[3])
      item.removeFromReviews(at: IndexSet([0]))
      #expect(Array(item.reviews) == [reviews[3], reviews[2]])
      item.removeFromReviews(at: 0)
      #expect(reviews[3].item == nil)
    }
  }

  @Test("Subclasses have their parents' properties in the same slots")
  func inheritance() throws {
    try withTemporaryStore { store in
      let context = try Self.context(store)
      let company = Company(context: context)
      company.name = "Leaf & Co"
      company.taxNumber = "DE123456789"
      let person = Person(context: context)
      person.name = "Ada"
      person.email = "ada@example.org"
      try context.save()
      context.reset()
      let parties = try context.fetch(Party.fetchRequest())
      #expect(Set(parties.map(\.name)) == ["Leaf & Co", "Ada"])
      #expect(parties.compactMap { ($0 as? Company)?.taxNumber } == ["DE123456789"])
      try #expect(context.fetch(Person.fetchRequest()).map(\.email) == ["ada@example.org"])
    }
  }

  @Test("Typed requests and predicates accept generated properties")
  func typedRequests() throws {
    try withTemporaryStore { store in
      let context = try Self.context(store)
      let category = Category(context: context)
      category.name = "Drinks"
      for (name, quantity) in [("Tea", 3), ("Milk", 9), ("Coffee", 4)] {
        let item = Item(context: context)
        item.name = name
        item.quantity = Int32(quantity)
        item.category = category
      }
      try context.save()
      let few = try context.fetch(Item.where(\.quantity < 5).sorted(by: \.name))
      #expect(few.map(\.name) == ["Coffee", "Tea"])
      try #expect(Item.fetch(where: \.category?.name == "Drinks", in: context).count == 3)
      let byCategory = Item.sorted(by: \.category?.name)
      #expect(byCategory.sortDescriptors.map(\.key) == ["category.name"])
    }
  }

  @Test("Classes of one version are distinguished from another version's model, with the differing property")
  func otherVersion() throws {
    try ShopEntityClasses.all.check(against: Self.model())
    let error = #expect(throws: PersistenceError.self) { try ShopEntityClasses.all.check(against: Self.model("Shop")) }
    #expect(error?.code == .incompatibleModel)
    #expect(error?.fix != nil || error?.errors.first?.fix != nil)
  }

  @Test("Classes are compared with the elements of composites, unless an older generator left them out")
  func compositeElements() throws {
    func model(_ elements: AttributeDescription...) throws -> ManagedObjectModel {
      let attribute = AttributeDescription("area", .composite, compositeName: "Area")
      return try ManagedObjectModel(
        ModelDescription(
          entities: [EntityDescription("Plot", attributes: [attribute])],
          composites: [CompositeDescription("Area", elements: elements)]))
    }
    func list(_ kind: GeneratedClasses.Kind) -> GeneratedClasses {
      GeneratedClasses(version: "1", [.init(Plot.self, entity: "Plot", properties: [("area", kind)])])
    }
    let (x, y, text) = (
      AttributeDescription("x", .double), AttributeDescription("y", .double), AttributeDescription("y", .string)
    )
    let current = list(.composite("Area", elements: ["x": .double, "y": .double]))
    try current.check(against: model(x, y))
    for other in try [model(x), model(x, text), model(x, y, AttributeDescription("z", .double))] {
      let error = #expect(throws: PersistenceError.self) { try current.check(against: other) }
      #expect(error?.code == .incompatibleModel)
    }
    try list(.composite("Area")).check(against: model(x))
    #expect(throws: PersistenceError.self) { try list(.composite("Zone")).check(against: model(x)) }
  }

  @Test("An object of a class generated for another version stops the program with a message")
  func mismatchReason() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let folder = PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld")
      let model = try ModelRegistry(contentsOf: folder).version(named: "Shop").model
      let context = ManagedObjectContext(
        PersistentStoreCoordinator(model: model), classes: ShopEntityClasses.all.byEntity)
      _ = Item(context: context)
    }
    #expect(result?.says("Item can't be the class of the entity 'Item'") == true)
    #expect(result?.says("persist generate") == true)
  }
}

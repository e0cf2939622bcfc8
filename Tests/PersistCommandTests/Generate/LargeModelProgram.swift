/// A program that uses the generated classes of ``LargeModel`` and checks their behavior.
enum LargeModelProgram {
  static let main = #"""
    import Foundation
    import Persist
    import PersistMacrosless

    func require(_ isRight: Bool, _ what: Swift.String) {
      guard !isRight else { return }
      print("wrong: \(what)")
      exit(1)
    }

    let registry = try ModelRegistry(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
    try LargeEntityClasses.all.check(against: registry.current)
    let store = URL(fileURLWithPath: CommandLine.arguments[2])

    func open() throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
      try coordinator.addStore(at: store)
      return ManagedObjectContext(coordinator, classes: LargeEntityClasses.all.byEntity)
    }

    func fill(_ context: ManagedObjectContext) throws {
      let everything = Everything(context: context)
      require(everything.requiredInteger16 == 7 && everything.givenString == "a \"b\" \\ c", "defaults")
      require(everything.optionalDecimal == Foundation.Decimal(string: "10.11"), "the default of a decimal")
      require(everything.requiredBoolean, "the default of a Boolean")
      require(everything.since == Foundation.Date(timeIntervalSinceReferenceDate: 86400), "the default of a date")
      everything.requiredInteger16 = .min
      everything.requiredInteger32 = .max
      everything.requiredInteger64 = .min
      everything.requiredFloat = 0.25
      everything.optionalDouble = nil
      everything.scalarInteger32 = 12
      everything.requiredDate = Foundation.Date(timeIntervalSinceReferenceDate: 5)
      everything.givenDate = Foundation.Date(timeIntervalSinceReferenceDate: 6)
      everything.requiredBinary = Foundation.Data([1])
      everything.givenBinary = Foundation.Data([2])
      everything.requiredUUID = UUID()
      everything.givenUUID = UUID()
      everything.requiredURI = URL(string: "https://example.org/a")
      everything.givenURI = URL(string: "https://example.org/b")
      everything.size = .large
      everything.rank = .low
      require(everything.otherSize == nil, "an optional of one's own type")
      everything.otherSize = .small
      everything.home.street = "High Street"
      everything.home.default = 3
      everything.home.point = Point()
      everything.home.point?.x = 1.5
      everything.passingInteger16 = 9
      require(everything.passingInteger16 == 9, "a transient attribute")

      let places = (0..<3).map { _ in Place(context: context) }
      for (index, place) in places.enumerated() { place.zip = index == 1 ? nil : "zip \(index)" }
      everything.addToPlaces(places[0])
      everything.insertIntoPlaces([places[2], places[1]], at: [0, 2])
      require(Array(everything.places) == [places[2], places[0], places[1]], "the order of members")
      everything.replacePlaces(at: Foundation.IndexSet(integer: 0), with: [places[2]])
      everything.removeFromPlaces(at: 2)
      everything.addToPlaces([places[1]])
      places[0].others = everything.places

      let level = Level11(context: context)
      require(level.number0 == 0 && level.number11 == 11, "inherited defaults")
      level.number0 = 100
      level.number11 = 111
      level.a5 = "five"
      level.peer3 = level
      for index in 0..<4 {
        let leaf = try context.create("Leaf\(index)")
        require((leaf as? Node)?.name == "node", "classes of children")
        leaf["colour"] = index
      }
      let parcel = ParcelMO(context: context)
      parcel.code = "ABC"
      parcel.weight = 2.5
      Sketch(context: context).caption = "a sketch"
      try context.save()
    }

    func check(_ context: ManagedObjectContext) throws {
      let everything = try context.fetch(Everything.fetchRequest())[0]
      require(everything.requiredInteger16 == .min && everything.requiredInteger64 == .min, "integers")
      require(everything.requiredInteger32 == .max && everything.scalarInteger32 == 12, "integers")
      require(everything.requiredFloat == 0.25 && everything.optionalDouble == nil, "numbers")
      require(everything.size == .large && everything.otherSize == .small && everything.rank == .low, "enumerations")
      require(everything.home.street == "High Street" && everything.home.point?.x == 1.5, "a composite")
      require(everything.home.default == 3 && everything.home.since == nil && everything.second == nil, "a composite")
      require(everything.requiredURI == URL(string: "https://example.org/a"), "an address")
      require(everything.initial == everything.requiredString && everything.total == 3, "derived attributes")
      require(everything.places.map(\.zip) == ["zip 2", "zip 0", nil], "an ordered relationship")
      require(everything.largePlaces.count == 2, "a fetched property")
      let first = try context.fetch(Place.where(\.zip == "zip 0"))[0]
      require(first.others.count == 3 && first.owner === everything, "relationships")
      let levels = try context.fetch(Level0.where(\.number0 > 50))
      let level = levels[0] as? Level11
      require(level?.number11 == 111 && level?.a5 == "five" && level?.peer3 === level, "inheritance")
      require(try context.fetch(Sketch.fetchRequest())[0].title == "a sketch", "a class of one's own")
      require(try Node.count(in: context) == 4, "subentities")
    }

    try fill(open())
    try check(open())

    // Every concrete entity has objects of its class, with every property in its slot.
    let context = try open()
    let names = registry.current.entities.filter { !$0.isAbstract }.map(\.name)
    for name in names {
      let object = try context.create(name)
      require(LargeEntityClasses.all.byEntity[name].map { type(of: object) == $0 } == true, "the class of \(name)")
      for property in object.entity.properties { _ = object[property.name] }
    }
    print("right: \(names.count) classes")
    """#
}

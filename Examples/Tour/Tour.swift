import Foundation
import Persist

/// A walk through Persist: a store of the oldest version of a model is made, filled and shown, then opened with the
/// newest version, which migrates it, and shown again.
///
///     Tour OUTPUT-FOLDER MODELS-FOLDER [REAL-STORES-FOLDER]
@main
struct Tour {
  let output: URL
  let models: URL

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
    guard arguments.count >= 2 else {
      print("Usage: Tour OUTPUT-FOLDER MODELS-FOLDER [REAL-STORES-FOLDER]")
      exit(2)
    }
    let tour = Tour(output: arguments[0], models: arguments[1])
    try tour.shop()
    if arguments.count > 2 { try tour.realStore(in: arguments[2]) }
  }

  /// The whole story with the sample model `Shop`.
  func shop() throws {
    let registry = try ModelRegistry(contentsOf: models.appendingPathComponent("Shop.xcdatamodeld"))
    let store = output.appendingPathComponent("Shop.sqlite")

    chapter("A store of version 'Shop', the first of \(registry.versions.count)")
    try make(store, version: registry.version(named: "Shop"))

    chapter("What opening it with version '\(registry.currentVersion.name)' would do")
    print(try MigrationPlan(storeAt: store, to: registry.currentVersion, registry: registry))

    chapter("Opening it with version '\(registry.currentVersion.name)'")
    let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
    let migrator = AutomaticMigrator { progress in
      print("  \(Int(progress.fraction * 100)) %  \(progress.current.prefix(70))")
      return true
    }
    try coordinator.addStore(at: store, options: StoreOptions(migrator: migrator))

    chapter("The objects afterwards")
    let context = ManagedObjectContext(coordinator)
    for item in try context.fetch(FetchRequest("Item", sortedBy: "name")) {
      let tags = members(of: item, "tags").compactMap { $0["text"] as? String }.sorted().joined(separator: ", ")
      print("  \(show(item["quantity"])) × \(show(item["name"])) at \(show(item["price"])) [\(tags)]")
    }
    for order in try context.fetch(FetchRequest("Order", sortedBy: "number")) {
      let buyer = order["buyer"] as? ManagedObject
      let lines = members(of: order, "lines").map { line in
        "\(show(line["count"])) \(show((line["item"] as? ManagedObject)?["name"]))"
      }
      print("  order \(show(order["number"])) of \(show(buyer?["name"])): \(lines.joined(separator: ", then "))")
    }
  }
}

extension Tour {
  /// The same with a store that Apple's Core Data wrote: a copy of it goes to the newest version of its model.
  func realStore(in folder: URL) throws {
    let files = FileManager.default
    let name = "Bookmarks_V1.sqlite"
    let models = folder.appendingPathComponent("bookmarks/BookmarksModel.xcdatamodeld")
    guard files.fileExists(atPath: models.path) else { return }
    // Its rows are all in the log beside it.
    for part in [name, "\(name)-wal"] {
      let copy = output.appendingPathComponent(part)
      try? files.removeItem(at: copy)
      try files.copyItem(at: folder.appendingPathComponent("bookmarks/\(part)"), to: copy)
      try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path)
    }
    let store = output.appendingPathComponent(name)
    let registry = try ModelRegistry(contentsOf: models)

    chapter("A real Core Data store, \(name): what migrating it would do")
    let plan = try MigrationPlan(storeAt: store, to: registry.currentVersion, registry: registry)
    print(plan)

    chapter("Its objects afterwards")
    let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
    try coordinator.addStore(at: store, options: .automaticMigration)
    let context = ManagedObjectContext(coordinator)
    let roots = try context.fetch(FetchRequest("BookmarkEntity", sortedBy: "uuid")).filter { $0["parent"] == nil }
    for root in roots { try list(root, depth: 1) }
  }

  private func list(_ bookmark: ManagedObject, depth: Int) throws {
    let indent = String(repeating: "  ", count: depth)
    print("\(indent)\(show(bookmark["title"] ?? bookmark["uuid"])) \(bookmark["url"] as? String ?? "")")
    for child in members(of: bookmark, "children") { try list(child, depth: depth + 1) }
  }

  /// The members of a to-many relationship, whose order depends on the model's version.
  private func members(of object: ManagedObject, _ name: String) -> RelationshipSet<ManagedObject> {
    object[name] as? RelationshipSet<ManagedObject> ?? []
  }

  /// Makes a store and puts a small shop into it.
  private func make(_ store: URL, version: ModelVersion) throws {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    try coordinator.addStore(at: store)
    let context = ManagedObjectContext(coordinator)
    func insert(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
      let object = try context.create(entity)
      for (name, value) in values { try object.setValue(value, forKey: name) }
      return object
    }

    let drinks = try insert("Category", ["name": "Drinks"])
    let hot = try insert("Category", ["name": "Hot drinks", "parent": drinks])
    let fair = try insert("Label", ["text": "fair trade"])
    let organic = try insert("Label", ["text": "organic"])
    let tea = try insert(
      "Item",
      [
        "name": "Tea", "amount": 12, "colour": "green", "price": Decimal(4.5), "category": hot,
        "labels": [fair, organic],
      ])
    let coffee = try insert(
      "Item", ["name": "Coffee", "amount": 7, "colour": "black", "category": hot, "labels": [fair]])
    _ = try insert("Item", ["name": "Lemonade", "amount": 30, "price": Decimal(2), "category": drinks])
    let ada = try insert("Person", ["name": "Ada", "email": "ada@example.org"])
    let order = try insert("Order", ["number": 1, "placedAt": Date(), "buyer": ada])
    for (item, count) in [(coffee, 2), (tea, 1)] {
      try members(of: order, "lines").insert(insert("Line", ["count": count, "item": item]))
    }
    try context.save()

    for item in try context.fetch(FetchRequest("Item", sortedBy: "name")) {
      let labels = members(of: item, "labels").compactMap { $0["text"] as? String }.sorted().joined(separator: ", ")
      let words = "\(show(item["amount"])) × \(show(item["name"])), \(show(item["colour"]))"
      print("  \(words), at \(show(item["price"])) [\(labels)]")
    }
  }

  private func chapter(_ title: String) { print("\n── \(title)\n") }

  private func show(_ value: Any?) -> String { value.map { "\($0)" } ?? "–" }
}

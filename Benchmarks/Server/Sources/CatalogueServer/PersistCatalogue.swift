import Foundation
import Persist
import PersistMacrosless

/// The catalogue by Persist, as the article "On servers" has it: a context for each request, and values that leave it.
struct PersistCatalogue: Catalogue {
  let container: PersistentContainer

  /// - Parameter synchronous: SQLite's pragma for connections that write.
  init(_ file: URL, synchronous: String) throws {
    var options = StoreOptions()
    options.pragmas = ["synchronous": synchronous]
    container = try PersistentContainer(
      at: file, model: ManagedObjectModel(Item.self, Category.self, Note.self), options: options)
  }

  func items(after name: String, limit: Int) async throws -> [ItemSummary] {
    try await container.read { context in
      try context.fetch(
        Item.where(\.name > name).sorted(by: \.name).limited(to: limit).prefetching(\.category)
      ).map(ItemSummary.init)
    }
  }

  func item(_ id: UUID) async throws -> ItemDetail? {
    try await container.read { context in
      try context.fetch(Item.where(\.id == id).limited(to: 1).prefetching(\.category, \.notes)).first
        .map(ItemDetail.init)
    }
  }

  func setQuantity(_ quantity: Int, of id: UUID) async throws -> StockAnswer? {
    try await container.save(retrying: 3) { context in
      guard let item = try context.fetch(Item.where(\.id == id).limited(to: 1)).first else { return nil }
      item.quantity = quantity
      // The new version is there after the save.
      try context.save()
      return StockAnswer(id: item.id, quantity: item.quantity, version: Int(item.version ?? 0))
    }
  }

  func add(_ note: NoteValue, to id: UUID) async throws -> NoteValue? {
    try await container.save(retrying: 3) { context in
      guard let item = try context.fetch(Item.where(\.id == id).limited(to: 1)).first else { return nil }
      let new = Note(context: context)
      (new.written, new.author, new.text) = (note.written, note.author, note.text)
      new.item = item
      return NoteValue(new)
    }
  }

  /// Closes the file, so that all of it is in the file itself.
  func close() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

extension ItemSummary {
  fileprivate init(_ item: Item) {
    self.init(
      id: item.id, name: item.name, price: item.price, quantity: item.quantity, added: item.added,
      category: item.category?.name)
  }
}

extension ItemDetail {
  init(_ item: Item) {
    self.init(
      id: item.id, name: item.name, price: item.price, quantity: item.quantity, added: item.added,
      category: item.category.map { CategoryValue(name: $0.name, position: $0.position) },
      notes: item.notes.map(NoteValue.init).sorted { $0.written < $1.written })
  }
}

extension NoteValue {
  fileprivate init(_ note: Note) { self.init(written: note.written, author: note.author, text: note.text) }
}

import Foundation
import Persist
import PersistMacrosless
import Synchronization

/// The catalogue in the server's memory: what a request costs without a library that reads it from a file.
final class MemoryCatalogue: Catalogue {
  private struct Content {
    /// The items in the order of names.
    var items: [ItemDetail]
    var versions: [Int]
    let places: [UUID: Int]
  }

  private let content: Mutex<Content>

  /// Reads the whole file.
  init(_ file: URL) throws {
    let catalogue = try PersistCatalogue(file, synchronous: "NORMAL")
    let context = catalogue.container.newContext()
    let found = try context.fetch(Item.all.sorted(by: \.name).prefetching(\.category, \.notes))
    let items = found.map(ItemDetail.init)
    let places = Dictionary(uniqueKeysWithValues: items.enumerated().map { ($1.id, $0) })
    content = Mutex(Content(items: items, versions: found.map { Int($0.version ?? 0) }, places: places))
    try catalogue.close()
  }

  func items(after name: String, limit: Int) async throws -> [ItemSummary] {
    content.withLock { content in
      var (low, high) = (0, content.items.count)
      while low < high {
        let middle = (low + high) / 2
        if content.items[middle].name > name { high = middle } else { low = middle + 1 }
      }
      return content.items[low...].prefix(limit).map { item in
        ItemSummary(
          id: item.id, name: item.name, price: item.price, quantity: item.quantity, added: item.added,
          category: item.category?.name)
      }
    }
  }

  func item(_ id: UUID) async throws -> ItemDetail? {
    content.withLock { content in content.places[id].map { content.items[$0] } }
  }

  func setQuantity(_ quantity: Int, of id: UUID) async throws -> StockAnswer? {
    content.withLock { content in
      guard let place = content.places[id] else { return nil }
      if content.items[place].quantity != quantity {
        content.items[place].quantity = quantity
        content.versions[place] += 1
      }
      return StockAnswer(id: id, quantity: quantity, version: content.versions[place])
    }
  }

  func add(_ note: NoteValue, to id: UUID) async throws -> NoteValue? {
    content.withLock { content in
      guard let place = content.places[id] else { return nil }
      let notes = content.items[place].notes
      content.items[place].notes.insert(note, at: notes.firstIndex { $0.written > note.written } ?? notes.endIndex)
      return note
    }
  }
}

import Foundation
import Persist
import PersistMacrosless

// <block 0>

final class Tag: ManagedObject {}

extension Item: GeneratedObject {
  public static var generatedClasses: GeneratedClasses { ShopEntityClasses.all }
  var name: String { string(at: 3) ?? "" }
  func addToTags(_ tag: Tag) {}
}

enum ShopEntityClasses {
  static let all = GeneratedClasses(version: "1", [])
}

func registered(url: URL, store: URL, tag: Tag) throws {
  // <block 1>
  _ = (items, few)
}

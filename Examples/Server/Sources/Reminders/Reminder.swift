import Foundation
import Persist
import PersistMacrosless

final class Reminder: ManagedObject {
  @Attribute(unique: true) var id = UUID()
  @Attribute(length: 1...200) var title = ""
  @Attribute(indexed: true) var created = Date()
}

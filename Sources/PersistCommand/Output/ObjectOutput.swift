import Persist
import PersistTools

/// Writes objects as text for people, or as lines of JSON.
struct ObjectOutput {
  private let asJSON: Bool
  private var output = StandardOutput()
  private var texts: [String: (properties: DumpedProperties, text: ObjectText)] = [:]

  init(asJSON: Bool) { self.asJSON = asJSON }

  mutating func write(_ object: StoreContents.Object) throws {
    let (properties, text) = form(of: object.entity)
    if asJSON {
      try output.writeLine { try $0.value(object, properties: properties) }
    } else {
      try output.write(text.text(object) + "\n")
    }
  }

  /// The properties of an entity and their text, determined once.
  private mutating func form(of entity: Entity) -> (properties: DumpedProperties, text: ObjectText) {
    if let known = texts[entity.name] { return known }
    let properties = DumpedProperties(entity)
    let form = (properties: properties, text: ObjectText(properties))
    texts[entity.name] = form
    return form
  }

  mutating func flush() throws { try output.flush() }
}

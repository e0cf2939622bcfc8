import Persist

/// The attribute whose value names an object for people: guessed, or chosen by the user.
enum NamingAttribute {
  /// Names of attributes that usually name an object, the best first.
  private static let usual = [
    "name", "title", "displayname", "fullname", "label", "subject", "caption", "headline", "filename", "username",
    "nickname", "email", "lastname", "firstname", "code", "isbn", "number", "text", "key", "identifier",
  ]

  /// The attribute of an entity that most probably names its objects; nil if none does.
  static func guess(for entity: Entity) -> String? {
    let texts = entity.attributes.filter { $0.type == .string && !$0.isTransient }
    let names = Dictionary(texts.map { ($0.name.lowercased(), $0.name) }, uniquingKeysWith: { first, _ in first })
    if let known = usual.lazy.compactMap({ names[$0] }).first { return known }
    if let similar = texts.first(where: { text in usual.prefix(9).contains { text.name.lowercased().hasSuffix($0) } }) {
      return similar.name
    }
    return (texts.first { !$0.isOptional } ?? texts.first)?.name
  }
}

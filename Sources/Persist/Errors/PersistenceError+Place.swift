public import Foundation

extension PersistenceError {
  /// The place where an error happened. Every part is optional; known parts are filled in.
  public struct Place: Sendable, Hashable {
    // In a box, as the fields of an error are.
    private indirect enum Content: Sendable, Hashable {
      case fields(Fields)
    }

    private struct Fields: Sendable, Hashable {
      var entity: String?
      var property: String?
      var row: Int64?
      var store: URL?
      var file: URL?
      var line: Int?
      var column: Int?
      var key: String?
      var sql: String?
    }

    private var content: Content
    private var fields: Fields {
      get { switch content { case .fields(let fields): fields } }
      @inline(never) set { content = .fields(newValue) }
    }

    /// The name of the entity.
    public var entity: String? {
      get { fields.entity }
      set { fields.entity = newValue }
    }
    /// The name of the attribute or relationship of ``entity``.
    public var property: String? {
      get { fields.property }
      set { fields.property = newValue }
    }
    /// The key of the row (`Z_PK`).
    public var row: Int64? {
      get { fields.row }
      set { fields.row = newValue }
    }
    /// The store's file or server, without a password.
    public var store: URL? {
      get { fields.store }
      set { fields.store = newValue?.withoutSecrets }
    }
    /// The file that was read: a model, a mapping model, a migration.
    public var file: URL? {
      get { fields.file }
      set { fields.file = newValue }
    }
    /// The line in ``file``, counted from 1.
    public var line: Int? {
      get { fields.line }
      set { fields.line = newValue }
    }
    /// The column in ``file`` or in the parsed text, counted from 1.
    public var column: Int? {
      get { fields.column }
      set { fields.column = newValue }
    }
    /// The key path inside ``file``, for formats without lines.
    public var key: String? {
      get { fields.key }
      set { fields.key = newValue }
    }
    /// The SQL that ran.
    public var sql: String? {
      get { fields.sql }
      set { fields.sql = newValue }
    }

    /// Creates a place from the parts that are known.
    @inline(never)
    public init(
      entity: String? = nil, property: String? = nil, row: Int64? = nil, store: URL? = nil, file: URL? = nil,
      line: Int? = nil, column: Int? = nil, key: String? = nil, sql: String? = nil
    ) {
      content = .fields(
        Fields(
          entity: entity, property: property, row: row, store: store?.withoutSecrets, file: file, line: line,
          column: column, key: key, sql: sql))
    }

    /// An unknown place.
    public static let unknown = Place()
    /// An entity as a whole.
    @inline(never)
    public static func entity(_ name: String) -> Place { Place(entity: name) }
    /// A property of an entity.
    @inline(never)
    public static func property(_ entity: String, _ property: String) -> Place {
      Place(entity: entity, property: property)
    }
    /// A store file; nil for a store in memory.
    @inline(never)
    public static func store(_ url: URL?) -> Place { Place(store: url) }
    /// A position in a file other than a store: a line counted from 1, or a key path in formats without lines.
    @inline(never)
    public static func file(_ url: URL, line: Int? = nil, key: String? = nil) -> Place {
      Place(file: url, line: line, key: key)
    }
  }
}

extension PersistenceError.Place: CustomStringConvertible {
  public var description: String {
    var parts: [String] = []
    if let file {
      parts.append([file.path, line.map(String.init), column.map(String.init)].compactMap { $0 }.joined(separator: ":"))
    } else if let column {
      parts.append("column \(column)")
    }
    if let key { parts.append(key) }
    if let store { parts.append(store.isFileURL ? store.path : store.absoluteString) }
    switch (entity, property) {
    case (let entity?, let property?): parts.append("\(entity).\(property)")
    case (let entity?, nil): parts.append(entity)
    case (nil, let property?): parts.append(property)
    case (nil, nil): break
    }
    if let row { parts.append("row \(row)") }
    if let sql { parts.append("«\(sql)»") }
    return parts.joined(separator: ", ")
  }
}

extension PersistenceError.Place {
  /// Returns `text` with this place's files reduced to their names, without folders: other libraries put full paths
  /// into their messages.
  func withoutFolders(_ text: String) -> String {
    let files = [store, file].compactMap { $0?.absoluteURL }
    return (files + files.map { $0.deletingLastPathComponent() }).reduce(text) { text, file in
      guard file.path.hasPrefix("/"), file.path != "/" else { return text }
      return text.replacingOccurrences(of: file.path, with: file.lastPathComponent)
    }
  }
}

extension PersistenceError {
  /// Calls `body` and fills in the missing parts of the place of an error that it throws.
  package static func placing<Result>(_ fill: (inout Place) -> Void, _ body: () throws -> Result) rethrows -> Result {
    do {
      return try body()
    } catch var error as PersistenceError {
      fill(&error.place)
      throw error
    }
  }
}

import Foundation
import Persist

/// A validation rule of the model as a constraint of a table.
///
/// Only rules whose meaning the server has exactly are constraints: required attributes, limits, and lengths. Patterns
/// and predicates are left to validation, and so are relationships, whose ends change by one statement after another.
struct ServerRule: Sendable {
  enum Kind: String, Sendable {
    case required, minimum, maximum, shortest, longest
  }

  /// The constraint's name, which differs if anything else does.
  let name: String
  let table: String
  /// The condition that every row must fulfill.
  let condition: ServerText
  let kind: Kind
  /// Whether the rule is about a date.
  let isOfDate: Bool
  /// The first entity that has the rule.
  let entity: String
  let property: String

  /// The beginning of the names of such constraints.
  static let prefix = "persist_ck_"

  /// All rules of a store.
  static func all(in map: TableMap) -> [ServerRule] {
    var rules: [Draft] = []
    for table in map.tables {
      let plan = WritePlan(table.entity, in: map)
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, table.entity.properties[column.slot].attribute == attribute,
          !attribute.isDerived
        else { continue }
        // A save clears a unique value before another row gets it.
        let isUnique = plan.uniqueColumns.values.contains { $0.contains(column.name) }
        for (kind, text) in conditions(of: column, attribute, isRequired: !attribute.isOptional && !isUnique) {
          let sql = text.statement(in: "").text
          let place = rules.firstIndex {
            $0.table == table.table && $0.column == column.name && $0.kind == kind && $0.sql == sql
          }
          if let place {
            rules[place].numbers.append(table.number)
          } else {
            rules.append(
              Draft(
                table: table.table, column: column.name, kind: kind, isOfDate: attribute.type == .date, text: text,
                numbers: [table.number], entity: table.entity.name, property: column.property))
          }
        }
      }
    }
    let counts = Dictionary(grouping: map.tables, by: \.table).mapValues(\.count)
    return rules.map { draft in
      let condition: ServerText =
        draft.numbers.count == counts[draft.table]
        ? draft.text : "(entity NOT IN (\(numbers: draft.numbers.sorted())) OR \(draft.text))"
      let text = [draft.table, draft.entity, draft.property, condition.statement(in: "").text].joined(separator: "\n")
      let digest = SHA256.digest(Array(text.utf8)).prefix(4).hexadecimalDigits
      var label = ServerText.name(draft.column)[...]
      while label.utf8.count > 30 { label = label.dropLast() }
      return ServerRule(
        name: "\(prefix)\(label)_\(draft.kind)_\(digest)", table: draft.table, condition: condition,
        kind: draft.kind, isOfDate: draft.isOfDate, entity: draft.entity, property: draft.property)
    }
  }

  private struct Draft {
    let table: String
    let column: String
    let kind: Kind
    let isOfDate: Bool
    let text: ServerText
    /// The numbers of the entities that have the rule.
    var numbers: [Int]
    let entity: String
    let property: String

    var sql: String { text.statement(in: "").text }
  }

  // MARK: Conditions

  private static func conditions(
    of column: TableMap.Column, _ attribute: AttributeDescription, isRequired: Bool
  ) -> [(Kind, ServerText)] {
    let name: ServerText = "\(name: column.name)"
    let validation = attribute.validation
    var conditions: [(Kind, ServerText)] = []
    if isRequired { conditions.append((.required, "(\(name) IS NOT NULL)")) }
    // A float that is set to 0.7 is less than the double 0.7.
    let isFloat = attribute.type == .float
    let value: ServerText = isFloat ? "\(name)::real" : name
    if let limit = validation.minimum.flatMap({ literal($0, for: column.type, isFloat: isFloat) }) {
      conditions.append((.minimum, "(\(value) >= \(limit))"))
    }
    if let limit = validation.maximum.flatMap({ literal($0, for: column.type, isFloat: isFloat) }) {
      conditions.append((.maximum, "(\(value) <= \(limit))"))
    }
    // Lengths are rules of strings only, not of other values that are stored as texts.
    guard attribute.type == .string, column.type == .varchar else { return conditions }
    if let length = validation.minimumLength {
      conditions.append((.shortest, "(\(unitCount(name)) >= \(number: Int64(length)))"))
    }
    if let length = validation.maximumLength {
      conditions.append((.longest, "(\(unitCount(name)) <= \(number: Int64(length)))"))
    }
    return conditions
  }

  /// The length of a text in UTF-16 units, two for each character beyond the first plane.
  private static func unitCount(_ text: ServerText) -> ServerText {
    """
    char_length(\(text)) + char_length(regexp_replace(\(text), \
    \(literal: #"[^\U00010000-\U0010FFFF]"#), \(literal: ""), \(literal: "g")))
    """
  }

  /// A limit as a constant of the column's type; nil for one that isn't a number or a date.
  private static func literal(_ limit: StoredValue, for type: TableMap.ColumnType, isFloat: Bool) -> ServerText? {
    let number: String
    switch limit {
    case .integer(let value): number = "\(value)"
    case .double(let value) where value.isFinite: number = "\(value)"
    case .decimal(let value) where value.isFinite: number = "\(value)"
    case .date(let date): number = "\(date.timeIntervalSinceReferenceDate)"
    default: return nil
    }
    switch type {
    case .integer, .int32, .int16, .decimal: return "\(literal: number)::numeric"
    case .float where isFloat: return "\(literal: number)::real"
    case .float, .timestamp: return "\(literal: number)::float8"
    case .moment: return ServerTerms.Kind.moment.literal(.double(Double(number) ?? 0))
    case .varchar, .boolean, .blob, .uuid: return nil
    }
  }
}

extension ServerRule {
  /// The error for a row that violates the rule.
  func violation(at url: URL?, _ error: PersistenceError) -> PersistenceError {
    let (code, words): (PersistenceError.Code, String) =
      switch kind {
      case .required: (.validationMissingRequired, "is required and has no value")
      case .minimum where isOfDate: (.validationDateTooSoon, "is before its earliest date")
      case .maximum where isOfDate: (.validationDateTooLate, "is after its latest date")
      case .minimum: (.validationNumberTooSmall, "is below its minimum")
      case .maximum: (.validationNumberTooLarge, "is above its maximum")
      case .shortest: (.validationStringTooShort, "is shorter than its minimum length")
      case .longest: (.validationStringTooLong, "is longer than its maximum length")
      }
    return PersistenceError(
      code, at: PersistenceError.Place(entity: entity, property: property, store: url),
      "\(entity).\(property) \(words), and the server enforces the rule.", engineMessage: error.engineMessage,
      fix: "Give it a value that the model allows.")
  }
}

/// The constraints for the model's rules that a store has in its schema; see ``StoreOptions/enforcesValidation``.
struct ServerRules {
  private let session: ServerSession

  init(_ session: ServerSession) { self.session = session }

  /// The constraints that the server has, by their names, with their tables.
  func present() throws -> [String: String] {
    try Dictionary(
      session.all(
        """
        SELECT k.conname::text, c.relname::text FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid \
        JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = \(text: session.schema) \
        AND k.contype = 'c' AND k.coninhcount = 0 AND starts_with(k.conname, \(literal: ServerRule.prefix))
        """
      ) { ($0.text($1, 0), $0.text($1, 1)) }, uniquingKeysWith: { first, _ in first })
  }

  /// Drops all constraints, before changes during which they don't hold. The caller holds the transaction.
  ///
  /// - Returns: Whether there were any.
  func drop() throws -> Bool {
    let present = try present()
    try drop(present)
    return !present.isEmpty
  }

  private func drop(_ constraints: [String: String]) throws {
    guard !constraints.isEmpty else { return }
    try session.run(
      constraints.sorted { $0.key < $1.key }.map { name, table in
        "ALTER TABLE \(table: table) DROP CONSTRAINT \(name: name)"
      })
  }

  /// Makes sure that the store has exactly these constraints. The caller holds the transaction.
  ///
  /// A constraint that rows violate already isn't checked for them, but for every row that is written from now on.
  func update(to rules: [ServerRule]) throws {
    let present = try present()
    let names = Set(rules.map(\.name))
    try drop(present.filter { !names.contains($0.key) })
    let missing = rules.filter { present[$0.name] == nil }
    guard !missing.isEmpty else { return }
    // Checks all rules in one round trip, because others wait meanwhile.
    let violations = try session.run(
      missing.map { "SELECT 1 FROM \(table: $0.table) WHERE NOT \($0.condition) LIMIT 1" })
    try session.run(
      zip(missing, violations).map { rule, violation in
        let validity: ServerText = violation.rowCount == 0 ? "" : " NOT VALID"
        return """
          ALTER TABLE \(table: rule.table) ADD CONSTRAINT \(name: rule.name) CHECK \(rule.condition)\(validity)
          """
      })
  }
}

extension ServerPool {
  /// Makes sure that the server enforces a model's rules.
  func enforceRules(of map: TableMap) throws {
    let rules = ServerRule.all(in: map)
    let names = Set(rules.map(\.name))
    guard try Set(read { try ServerRules($0).present() }.keys) != names else { return }
    try write { transaction in
      // Another program may be first.
      try transaction.run([ServerText.lock(address.schema)])
      let constraints = ServerRules(transaction.session)
      try lock(constraints.present().values + rules.map(\.table), in: transaction.session)
      try constraints.update(to: rules)
    }
  }
}

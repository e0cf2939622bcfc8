import Foundation
import Persist

/// The triggers that keep a column of keys and a join table in step.
extension OnlineTriggers {
  /// The statements that make the triggers of both tables.
  static func make(of join: OnlineExpansion.KeyJoin) -> [ServerText] { followKey(join) + followPairs(join) }

  /// A changed key replaces the pair: the only one, or that of the former key.
  private static func followKey(_ join: OnlineExpansion.KeyJoin) -> [ServerText] {
    let (key, own): (ServerText, ServerText) = ("\(name: join.key)", "\(name: join.own)")
    let (pairs, member): (ServerText, ServerText) = ("\(name: join.join.name)", "\(name: join.member)")
    let replaced: ServerText = join.side == .first ? "IS DISTINCT FROM NEW.\(key)\(join.isKnown)" : "= OLD.\(key)"
    // An insertion would wait for a transaction that deletes the same pair, which then waits for this one.
    let isNew: ServerText = join.side == .first ? "" : """
       AND NOT EXISTS (SELECT 1 FROM \(pairs) AS t WHERE t.\(own) = NEW.id AND t.\(member) = NEW.\(key))
      """
    let body: ServerText = """
      IF TG_OP = 'UPDATE' THEN IF NEW.\(key) IS NOT DISTINCT FROM OLD.\(key) THEN RETURN NULL; END IF; \
      \(enter) DELETE FROM \(pairs) AS t WHERE t.\(own) = NEW.id AND t.\(member) \(replaced); \
      ELSE \(enter) END IF; \
      IF NEW.\(key) IS NOT NULL\(isNew) THEN INSERT INTO \(pairs) (\(own), \(member)) VALUES (NEW.id, NEW.\(key)) \
      ON CONFLICT DO NOTHING; END IF; \(leave) RETURN NULL;
      """
    let name = prefix + join.join.name + "_key"
    return [
      function(name, body),
      """
      CREATE TRIGGER \(name: name) AFTER INSERT OR UPDATE ON \(table: join.table) FOR EACH ROW \
      EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }

  /// At the end of the transaction, the key becomes that of the only pair, or of the first one if its own is gone. The
  /// lock of the row lets this transaction see the pairs of others.
  private static func followPairs(_ join: OnlineExpansion.KeyJoin) -> [ServerText] {
    let (table, key, own): (ServerText, ServerText, ServerText) =
      ("\(name: join.table)", "\(name: join.key)", "\(name: join.own)")
    let (pairs, member): (ServerText, ServerText) = ("\(name: join.join.name)", "\(name: join.member)")
    let number: ServerText = join.number.map { number in
      """
      , \(name: number.column) = \
      (SELECT there.entity FROM \(name: number.target) AS there WHERE there.id = persist_key)
      """
    } ?? ""
    let choice: ServerText = join.side == .first
      ? """
        \(replaceUnknown(join)) \
        SELECT count(*), min(t.\(member)) INTO persist_count, persist_key FROM \(pairs) AS t \
        WHERE t.\(own) = persist_row\(join.isKnown); \
        IF persist_count > 1\(isKnownOwner(join)) THEN RAISE EXCEPTION USING ERRCODE = 'check_violation', \
        CONSTRAINT = \(literal: secondMember), MESSAGE = \(literal: "\(join.label): ") || persist_row::text; END IF;
        """
      : """
        persist_key := (SELECT t.\(member) FROM \(pairs) AS t JOIN \(table) AS r ON r.id = persist_row \
        WHERE t.\(own) = persist_row\(join.isKnown) \
        ORDER BY t.\(member) IS DISTINCT FROM r.\(key), \(join.order)t.\(member) LIMIT 1);
        """
    let body: ServerText = """
      IF TG_OP = 'DELETE' THEN persist_row := OLD.\(own); ELSE persist_row := NEW.\(own); END IF; \(enter) \
      PERFORM 1 FROM \(table) AS r WHERE r.id = persist_row FOR NO KEY UPDATE; \(choice) \
      UPDATE \(table) AS r SET \(key) = persist_key\(number) \
      WHERE r.id = persist_row AND r.\(key) IS DISTINCT FROM persist_key; \(leave) RETURN NULL;
      """
    let name = prefix + join.join.name + "_pairs"
    return [
      function(name, body),
      """
      CREATE CONSTRAINT TRIGGER \(name: name) AFTER INSERT OR UPDATE OR DELETE ON \(table: join.join.name) \
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }

  /// Removes members that programs with the join table don't see beside others: they have replaced them.
  private static func replaceUnknown(_ join: OnlineExpansion.KeyJoin) -> ServerText {
    guard !join.hidden.membersFromPairs.isEmpty else { return "" }
    let (own, pairs, member): (ServerText, ServerText, ServerText) =
      ("\(name: join.own)", "\(name: join.join.name)", "\(name: join.member)")
    let others = join.hidden.membersFromKey + join.hidden.membersFromPairs
    return """
      DELETE FROM \(pairs) AS t WHERE t.\(own) = persist_row AND EXISTS (SELECT 1 FROM \(name: join.members) AS m \
      WHERE m.id = t.\(member) AND m.entity IN (\(numbers: join.hidden.membersFromPairs))) \
      AND EXISTS (SELECT 1 FROM \(pairs) AS o JOIN \(name: join.members) AS m ON m.id = o.\(member) \
      WHERE o.\(own) = persist_row AND m.entity NOT IN (\(numbers: others)));
      """
  }

  /// The condition that programs with the column see the row.
  private static func isKnownOwner(_ join: OnlineExpansion.KeyJoin) -> ServerText {
    guard !join.hidden.ownersFromKey.isEmpty else { return "" }
    return """
       AND NOT EXISTS (SELECT 1 FROM \(name: join.table) AS r WHERE r.id = persist_row \
      AND r.entity IN (\(numbers: join.hidden.ownersFromKey)))
      """
  }

  /// The statement that lets a trigger's statements name tables without their schema, and the one that ends this.
  static let enter: ServerText =
    "PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true);"
  static let leave: ServerText = "PERFORM set_config('search_path', persist_path, true);"

  private static func function(_ name: String, _ body: ServerText) -> ServerText {
    let whole: ServerText = """
      DECLARE persist_path text := current_setting('search_path'); persist_row bigint; persist_key bigint; \
      persist_count bigint; BEGIN \(body) END
      """
    return """
      CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql \
      AS \(literal: whole.statement(in: "").text)
      """
  }

  // MARK: Errors

  /// The name of the violated constraint of a second member.
  private static let secondMember = "persist_online_member"
  /// The name of the violated constraint of a value that the first model's type can't represent.
  static let unequalValue = "persist_online_value"

  /// The name of the violated constraint of a value that the first model requires.
  static let missingValue = "persist_online_required"

  /// The name of the violated constraint of a computed value that its type can't represent.
  static let valueOutOfRange = "persist_online_range"

  /// The error for a value or a member that the first model has no place for; nil for other errors.
  static func violation(at url: URL?, _ error: PersistenceError) -> PersistenceError? {
    let message: String
    switch error.place.key {
    case missingValue: message = "A value is missing that the old model, which the store also serves, requires."
    case unequalValue:
      message = "A value has no equal one in the type of its attribute in the old model, which the store also serves."
    case valueOutOfRange:
      message = "A value of the other model, which the store also serves, leaves the range of numbers."
    case secondMember:
      message = "An object has several members of a relationship that is to-one in the old model."
    default: return nil
    }
    return PersistenceError(
      .validationRule, at: .store(url), message, engineMessage: error.engineMessage,
      fix: "Store this after the end of the online migration, with 'persist contract'.")
  }
}

extension OnlineExpansion.KeyJoin {
  /// The condition that the model with the column has the member of a pair; empty if it has all.
  var isKnown: ServerText { isKnown(in: "\(name: members)") }

  /// - Parameter table: The name of the members' table.
  func isKnown(in table: ServerText) -> ServerText {
    guard !hidden.membersFromKey.isEmpty else { return "" }
    return """
       AND NOT EXISTS (SELECT 1 FROM \(table) AS m WHERE m.id = t.\(name: member) \
      AND m.entity IN (\(numbers: hidden.membersFromKey)))
      """
  }

  /// The order of members, followed by a comma; empty if they have none.
  var order: ServerText { place.map { "t.\(name: $0) NULLS LAST, " } ?? "" }
}

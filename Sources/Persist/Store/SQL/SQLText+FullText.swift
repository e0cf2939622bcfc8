/// Full-text indexes.
///
/// - SeeAlso: <https://sqlite.org/fts5.html>
extension SQLText {
  package static let fullTextModule: SQLText = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"

  /// The name and SQL text of every trigger, view and virtual table, and whether it is a virtual table, which has no
  /// root page.
  package static let trustedObjects: SQLText = """
    SELECT name, sql, type = 'table' FROM sqlite_master \
    WHERE type IN ('trigger', 'view') OR (type = 'table' AND rootpage = 0)
    """

  package static func create(_ index: FullTextIndex) -> SQLText {
    let prefixes = index.search.prefixLengths
    let prefix: SQLText = prefixes.isEmpty ? "" : ", prefix='\(words: prefixes)'"
    return """
      CREATE VIRTUAL TABLE \(name: index.name) USING fts5(\(name: index.column), content=\(literal: index.table), \
      content_rowid='Z_PK', tokenize='\(tokenizer(index.search))'\(prefix))
      """
  }

  /// Rows without a text are also in the index, without words, consistently with SQLite's own rebuild and integrity
  /// check.
  package static func trigger(_ index: FullTextIndex, _ event: FullTextIndex.Event) -> SQLText {
    let add: SQLText = """
      INSERT INTO \(name: index.name) (rowid, \(name: index.column)) VALUES (NEW.Z_PK, NEW.\(name: index.column));
      """
    let remove: SQLText = """
      INSERT INTO \(name: index.name) (\(name: index.name), rowid, \(name: index.column)) \
      VALUES ('delete', OLD.Z_PK, OLD.\(name: index.column));
      """
    let head: SQLText
    let body: SQLText
    switch event {
    case .insert: (head, body) = ("INSERT ON \(name: index.table)", add)
    case .delete: (head, body) = ("DELETE ON \(name: index.table)", remove)
    case .update:
      head = """
        UPDATE OF Z_PK, \(name: index.column) ON \(name: index.table) \
        WHEN OLD.\(name: index.column) IS NOT NEW.\(name: index.column) OR OLD.Z_PK <> NEW.Z_PK
        """
      body = "\(remove) \(add)"
    }
    return "CREATE TRIGGER \(name: index.triggerName(event)) AFTER \(head) BEGIN \(body) END"
  }

  package static func rebuild(_ index: FullTextIndex) -> SQLText {
    "INSERT INTO \(name: index.name) (\(name: index.name)) VALUES ('rebuild')"
  }

  package static func dropFullText(_ name: String, isTable: Bool) -> SQLText {
    isTable ? "DROP TABLE \(name: name)" : "DROP TRIGGER \(name: name)"
  }

  // MARK: Searching

  /// The keys of the rows whose texts match a query.
  static func matches(of index: FullTextIndex, _ query: String) -> SQLText {
    "SELECT rowid FROM \(name: index.name) WHERE \(name: index.column) MATCH \(value: .text(query))"
  }

  /// The matches are ranked once for the whole statement: a subquery with a limit isn't flattened into the outer query.
  ///
  /// - SeeAlso: <https://sqlite.org/optoverview.html#subquery_flattening>
  static func relevance(ofKey key: SQLText, _ index: FullTextIndex, _ query: String) -> SQLText {
    """
    IFNULL((SELECT score FROM (SELECT rowid AS found, rank AS score FROM \(name: index.name) \
    WHERE \(name: index.column) MATCH \(value: .text(query)) LIMIT -1) WHERE found = \(key)), 0)
    """
  }

  // MARK: Single texts

  /// An index that contains only the text being examined.
  package static func createSingleText(_ search: FullTextSearch) -> SQLText {
    "CREATE VIRTUAL TABLE \(singleText(search)) USING fts5(content, tokenize='\(tokenizer(search))')"
  }

  package static func addSingleText(_ search: FullTextSearch, _ text: String) -> SQLText {
    "INSERT INTO \(singleText(search)) (rowid, content) VALUES (1, \(value: .text(text)))"
  }

  package static func singleTextMatches(_ search: FullTextSearch, _ query: String) -> SQLText {
    "SELECT 1 FROM \(singleText(search)) WHERE content MATCH \(value: .text(query))"
  }

  /// The text with marks around the matches: the whole text, or the best excerpt of a number of words.
  package static func markedText(
    _ search: FullTextSearch, _ query: String, marks: (start: String, end: String, cut: String), wordCount: Int?
  ) -> SQLText {
    let between: SQLText = "\(value: .text(marks.start)), \(value: .text(marks.end))"
    let marked: SQLText =
      if let wordCount {
        """
        snippet(\(singleText(search)), 0, \(between), \(value: .text(marks.cut)), \
        \(value: .integer(Int64(wordCount))))
        """
      } else {
        "highlight(\(singleText(search)), 0, \(between))"
      }
    return "SELECT \(marked) FROM \(singleText(search)) WHERE content MATCH \(value: .text(query))"
  }

  private static func singleText(_ search: FullTextSearch) -> SQLText {
    switch search.tokenizer {
    case .words: "Z_WORDS"
    case .stems: "Z_STEMS"
    case .trigrams: "Z_TRIGRAMS"
    }
  }

  private static func tokenizer(_ search: FullTextSearch) -> SQLText {
    switch search.tokenizer {
    case .words: "unicode61 remove_diacritics 2"
    case .stems: "porter unicode61 remove_diacritics 2"
    case .trigrams: "trigram"
    }
  }

  // MARK: Checking

  /// Creates an index of the current texts in the temporary database, and vocabulary views of it and of the store's
  /// index.
  package static func secondIndex(_ index: FullTextIndex) -> [SQLText] {
    [
      "CREATE VIRTUAL TABLE temp.PERSIST_CHECK USING fts5(content, content='', tokenize='\(tokenizer(index.search))')",
      """
      INSERT INTO temp.PERSIST_CHECK (rowid, content) \
      SELECT Z_PK, \(name: index.column) FROM main.\(name: index.table)
      """,
      "CREATE VIRTUAL TABLE temp.PERSIST_CHECK_STORE USING fts5vocab(main, \(name: index.name), instance)",
      "CREATE VIRTUAL TABLE temp.PERSIST_CHECK_TEXTS USING fts5vocab(temp, PERSIST_CHECK, instance)",
    ]
  }

  package static let dropSecondIndex: [SQLText] = [
    "DROP TABLE temp.PERSIST_CHECK_STORE", "DROP TABLE temp.PERSIST_CHECK_TEXTS", "DROP TABLE temp.PERSIST_CHECK",
  ]

  /// The rows for which the two indexes contain different words.
  package static func differences(from index: FullTextIndex) -> SQLText {
    """
    SELECT DISTINCT d.doc, r.Z_ENT FROM (\
    SELECT * FROM (SELECT term, doc, offset FROM temp.PERSIST_CHECK_STORE \
    EXCEPT SELECT term, doc, offset FROM temp.PERSIST_CHECK_TEXTS) \
    UNION ALL SELECT * FROM (SELECT term, doc, offset FROM temp.PERSIST_CHECK_TEXTS \
    EXCEPT SELECT term, doc, offset FROM temp.PERSIST_CHECK_STORE)) AS d \
    LEFT JOIN main.\(name: index.table) AS r ON r.Z_PK = d.doc ORDER BY d.doc
    """
  }
}

extension SQLText.StringInterpolation {
  /// Integers separated by spaces.
  fileprivate mutating func appendInterpolation(words numbers: [Int]) {
    for (index, number) in numbers.enumerated() {
      if index > 0 { appendLiteral(" ") }
      appendInterpolation(number: Int64(number))
    }
  }
}

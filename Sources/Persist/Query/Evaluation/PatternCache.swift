/// Compiled patterns of one kind, by their texts and options.
///
/// A connection and an evaluator that serves many objects meet any number of patterns. The cache has two halves: when
/// that of the patterns used last is full, it replaces the other one, so that unused patterns don't accumulate.
struct PatternCache<Compiled> {
  private struct Key: Hashable {
    let pattern: String
    let options: FetchPredicate.Options

    /// Compares bytes: Swift considers composed and decomposed letters equal.
    static func == (left: Key, right: Key) -> Bool {
      left.options == right.options && left.pattern.utf8.elementsEqual(right.pattern.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
  }

  /// The patterns used last.
  private var recent: [Key: Compiled] = Dictionary()
  /// Patterns that were used before the recent ones, and not since.
  private var former: [Key: Compiled] = Dictionary()

  /// A predicate may compare with a column of patterns, each of which is used once for every row.
  var limit: Int { 1000 }
  var count: Int { recent.count + former.count }

  /// Returns a compiled pattern, compiling it if it isn't in the cache.
  mutating func pattern(
    _ pattern: String, _ options: FetchPredicate.Options, orCompile compile: () throws -> Compiled
  ) rethrows -> Compiled {
    let key = Key(pattern: pattern, options: options)
    if let known = recent[key] { return known }
    let found: Compiled
    if let known = former.removeValue(forKey: key) { found = known } else { found = try compile() }
    if recent.count >= limit / 2 { (former, recent) = (recent, Dictionary()) }
    recent[key] = found
    return found
  }
}

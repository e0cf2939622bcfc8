public import Testing

/// Makes a test a law: a statement about random inputs, each of which is made from a seed.
///
/// ```swift
/// @Test("A damaged list is refused or read", .law("damaged-lists", short: 200, long: 20_000))
/// func damage() throws {
///   try forEachSeed { seed in
///     var random = SeededRandom(seed: seed)
///     …
///   }
/// }
/// ```
///
/// Plain runs use the seeds from 1 to `short`, always the same ones; `PERSIST_LONG_TESTS=1` uses those to `long`, or as
/// many as possible in five minutes.
/// `Scripts/campaign` finds every law in the sources and runs it with new seeds; see `SeedRange` for its variables.
/// Each issue names its seed, and `PERSIST_SEED` runs only that one:
///
/// ```sh
/// PERSIST_SEED=4711 swift test --filter PropertyListTests
/// ```
public struct LawTrait: TestTrait, TestScoping {
  let name: String
  let short: UInt64
  let long: UInt64

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    TestRun.begin()
    let run = LawRun(name, short: short, long: long)
    defer { run.finish() }
    #if compiler(>=6.2)
      try await IssueHandlingTrait.compactMapIssues { run.record($0) }
        .provideScope(for: test, testCase: testCase) { try await LawRun.$current.withValue(run, operation: function) }
    #else
      try await LawRun.$current.withValue(run, operation: function)
    #endif
  }
}

extension Trait where Self == LawTrait {
  /// - Parameters:
  ///   - name: The law's name in the campaign's table, unique among all laws; its parameterized cases share it.
  ///   - short: The number of seeds in a plain run.
  ///   - long: The number of seeds in a run with `PERSIST_LONG_TESTS`.
  public static func law(_ name: String, short: UInt64, long: UInt64) -> Self {
    LawTrait(name: name, short: short, long: long)
  }
}

/// Runs a law with one seed after another. An error ends one seed's try, not the law; five failing seeds end the law.
///
/// - Returns: The number of seeds tried.
/// - Precondition: The test has the trait ``Testing/Trait/law(_:short:long:)``.
@discardableResult
public func forEachSeed(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (UInt64) throws -> Void
) -> Int {
  let run = LawRun.required
  while let seed = run.next() {
    do { try body(seed) } catch { run.record(error, at: sourceLocation) }
  }
  return run.count
}

/// Runs a law with one seed after another, like the synchronous form.
@discardableResult
public func forEachSeed(
  isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (UInt64) async throws -> Void
) async -> Int {
  let run = LawRun.required
  while let seed = run.next() {
    do { try await body(seed) } catch { run.record(error, at: sourceLocation) }
  }
  return run.count
}

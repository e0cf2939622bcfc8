import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Random steps beside a plain model. What a step does follows from ``edits`` alone.
protocol PlainTrial {
  static var model: ModelDescription { get }
  var edits: PlainEdits { get set }
  /// The last edits, for messages.
  var trace: String { get }

  init(_ stack: TestStack, _ edits: PlainEdits) throws
  mutating func step() throws
  mutating func end() throws
}

/// A difference between the framework and a plain model.
struct PlainDifference: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws a ``PlainDifference`` where a condition isn't met.
func demand(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  if !condition { throw PlainDifference(message()) }
}

/// The value, or a ``PlainDifference`` for none.
func demand<Value>(_ value: Value?, _ message: @autoclosure () -> String = "a value is missing") throws -> Value {
  guard let value else { throw PlainDifference(message()) }
  return value
}

/// Throws a ``PlainDifference`` unless a state is the one that it should be.
func demand(_ state: PlainState, is wanted: PlainState, _ what: String) throws {
  let differences = state.differences(from: wanted)
  try demand(differences == [], "\(what): \(differences.prefix(8).joined(separator: "; "))")
}

extension PlainTrial {
  func expect(_ state: PlainState, _ wanted: PlainState, _ what: String) throws {
    try demand(state, is: wanted, what)
  }

  /// Takes a number of steps. Where that fails, the shortest part of them is thrown that fails too, or the shortest that
  /// was found in ten seconds, or those that the environment variable PERSIST_LAW_SHRINKING says.
  static func take(_ count: Int, seed: UInt64) throws {
    guard let failure = try failure(of: { run in
      for _ in 0..<count {
        run.edits.beginStep()
        try run.step()
      }
    }, PlainEdits(random: SeededRandom(seed: seed)))
    else { return }
    // A step that ends the program would leave no message.
    FileHandle.standardError.write(
      Data("Seed \(seed) fails: \(failure.error.firstLine)\nLooking for the shortest steps that fail…\n".utf8))
    throw try shortest(failure).error
  }

  private static func shortest(_ failure: PlainFailure) throws -> PlainFailure {
    var shortest = failure
    let seconds = ProcessInfo.processInfo.environment["PERSIST_LAW_SHRINKING"].flatMap { Int($0) } ?? 10
    let deadline = ContinuousClock.now + .seconds(seconds)
    /// Whether the steps fail still.
    func fails(_ tape: PlainTape) throws -> Bool {
      guard let failure = try self.failure(of: tape, shortest.kind) else { return false }
      shortest = failure
      return true
    }
    var length = max(1, shortest.tape.steps.count / 2)
    while ContinuousClock.now < deadline {
      let before = (shortest.tape.steps.count, shortest.tape.editCount)
      var end = shortest.tape.steps.count
      while end > 0, ContinuousClock.now < deadline {
        var tape = shortest.tape
        end = min(end, tape.steps.count)
        tape.steps.removeSubrange(max(0, end - length)..<end)
        _ = try fails(tape)
        end -= length
      }
      if length > 1 {
        length /= 2
        continue
      }
      for step in shortest.tape.steps.indices.reversed() {
        guard step < shortest.tape.steps.count else { continue }
        for edit in shortest.tape.steps[step].edits.indices.reversed() {
          guard step < shortest.tape.steps.count, edit < shortest.tape.steps[step].edits.count,
            shortest.tape.steps[step].edits[edit].edit != nil
          else { continue }
          var tape = shortest.tape
          tape.steps[step].edits[edit].edit = nil
          _ = try fails(tape)
        }
      }
      if before == (shortest.tape.steps.count, shortest.tape.editCount) { break }
    }
    return shortest
  }

  private static func failure(of tape: PlainTape, _ kind: UInt64) throws -> PlainFailure? {
    try failure(
      of: { run in
        for step in tape.steps {
          run.edits.repeatStep(step)
          try run.step()
        }
      }, PlainEdits(random: SeededRandom(seed: 0), next: 10_000, kind: kind))
  }

  /// The failure of some steps, with the choices that were made until then; nil if they don't fail.
  private static func failure(of steps: (inout Self) throws -> Void, _ edits: PlainEdits) throws -> PlainFailure? {
    var failure: PlainFailure?
    try withStack(model) { stack in
      var run = try Self(stack, edits)
      do {
        try steps(&run)
        try run.end()
      } catch {
        failure = PlainFailure(tape: run.edits.tape, error: PlainDifference("\(error)\n\(run.trace)"), kind: edits.kind)
      }
    }
    return failure
  }
}

/// Steps that fail, and how.
struct PlainFailure {
  let tape: PlainTape
  let error: PlainDifference
  /// See ``PlainEdits/choice(of:)``.
  let kind: UInt64
}

extension PlainDifference {
  fileprivate var firstLine: Substring { description.prefix { $0 != "\n" } }
}

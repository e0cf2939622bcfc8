import Foundation
import Persist

extension OnlinePlan: CustomStringConvertible {
  /// The plan for people.
  public var description: String {
    let verdict = isPossible ? "possible" : "not possible"
    var lines = ["From '\(from)' to '\(to)', while programs with both run: \(verdict)."]
    for step in steps {
      let reason = step.reason.map { ": \($0)" } ?? ""
      lines.append("  \(Self.words(for: step.way))  \(Self.name(of: step.operation))\(reason)")
      if let fix = step.fix { lines.append("            \(fix)") }
    }
    let general = refusals.filter { refusal in
      !steps.contains { ($0.reason, $0.fix) == (refusal.reason, refusal.fix) }
    }
    lines += general.flatMap { ["  refused   \($0.line)", "            \($0.fix)"] }
    for phase in phases {
      lines += ["", "persist \(phase.name)", "  Locks: \(phase.locks)"]
      lines += phase.sql.isEmpty ? ["  Nothing to do."] : phase.sql.map { "  \($0);" }
    }
    return lines.joined(separator: "\n")
  }

  private static func words(for way: Way) -> String {
    way.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
  }

  private static func name(of operation: MigrationOperation) -> String {
    let place = [operation.entity, operation.property].compactMap { $0 }.joined(separator: ".")
    let newName = operation.newName.map { " → \($0)" } ?? ""
    return "\(operation.kind.rawValue) \(place)\(newName)"
  }

  /// The statements of all phases as a script, with the phases and their locks in comments.
  ///
  /// It shows what happens; the record by which programs find their model is written by `persist expand`.
  public var script: String {
    phases.map { phase in
      let lines = ["-- persist \(phase.name)", "-- \(phase.locks)"] + phase.sql.map { $0 + ";" }
      return lines.joined(separator: "\n")
    }.joined(separator: "\n\n") + "\n"
  }
}

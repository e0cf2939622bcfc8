import ArgumentParser

/// The check of the command names in a call, which the parser reports only as unexpected arguments.
struct CommandNames {
  private let root: any ParsableCommand.Type

  init(of root: any ParsableCommand.Type) { self.root = root }

  /// - Parameter arguments: The arguments of the program; after `help`, they name the command to describe.
  /// - Throws: A `ValidationError` for a name that no command has, with the most similar name.
  func check(_ arguments: [String]) throws {
    var group = root
    for name in arguments.drop(while: { $0 == "help" }) {
      let commands = group.configuration.subcommands
      // The remaining arguments belong to the command.
      guard !name.hasPrefix("-"), !commands.isEmpty else { return }
      guard let command = commands.first(where: { Self.name(of: $0) == name }) else {
        throw ValidationError(Self.message(unknown: name, among: commands.map(Self.name)))
      }
      group = command
    }
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? command._commandName
  }

  private static func message(unknown name: String, among known: [String]) -> String {
    let similar = known.map { (distance: distance(name, $0), name: $0) }.min { $0.distance < $1.distance }
    guard let similar, similar.distance <= max(1, name.count / 3) else { return "There is no command '\(name)'." }
    return "There is no command '\(name)'. Did you mean '\(similar.name)'?"
  }

  /// The number of characters to insert, delete or replace, and of neighbors to exchange, to get from one name to
  /// another.
  private static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    var rows = [Array(0...right.count)]
    for i in 1..<(left.count + 1) {
      var row = [i]
      for j in 1..<(right.count + 1) {
        let isEqual = left[i - 1] == right[j - 1]
        var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (isEqual ? 0 : 1))
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          best = min(best, rows[i - 2][j - 2] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}

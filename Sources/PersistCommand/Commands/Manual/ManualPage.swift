/// A page of the manual for a command, in the language of `man`.
///
/// - SeeAlso: <https://man7.org/linux/man-pages/man7/man.7.html>
struct ManualPage {
  let command: CommandDescription

  /// The pages of the program and of all its commands.
  static func pages() throws -> [ManualPage] {
    func pages(_ command: CommandDescription) -> [ManualPage] {
      [ManualPage(command: command)] + command.shownCommands.flatMap(pages)
    }
    return pages(try CommandDescription.program())
  }

  /// The name of the page: `persist-sql-status`.
  var name: String { command.words.joined(separator: "-") }
  var fileName: String { "\(name).1" }

  var text: String {
    var lines = [
      ".TH \(Self.escaped(name.uppercased())) 1 \"\" \"persist \(ProgramVersion.number)\" \"Persist\"", ".SH NAME",
      "\(Self.escaped(name)) \\- \(Self.escaped(command.abstract ?? ""))", ".SH SYNOPSIS",
      ".B \(Self.escaped(command.words.joined(separator: " ")))",
    ]
    lines += command.shownArguments.map(Self.synopsis)
    if !command.shownCommands.isEmpty { lines.append("\\fICOMMAND\\fR") }
    if let discussion = command.discussion {
      lines += [".SH DESCRIPTION"] + Self.paragraphs(discussion)
    }
    lines += Self.section("ARGUMENTS", command.shownArguments.filter { $0.kind == .positional })
    lines += Self.section("OPTIONS", command.shownArguments.filter { $0.kind != .positional })
    if !command.shownCommands.isEmpty {
      lines.append(".SH COMMANDS")
      for inner in command.shownCommands {
        lines += [
          ".TP", ".BR \(Self.escaped((command.words + [inner.commandName]).joined(separator: "-"))) (1)",
          Self.escaped(inner.abstract ?? ""),
        ]
      }
    }
    lines += [
      ".SH EXIT STATUS", ".TP", "0", "Success.", ".TP", "1", "Failure; the error is on standard error.", ".TP", "2",
      "Invalid arguments.", ".TP", "3",
      "A finding: damage, an impossible migration, a changed released version, diverged versions, or a conflict.",
    ]
    if command.words.count > 1 {
      lines += [".SH SEE ALSO", ".BR \(Self.escaped(command.words.dropLast().joined(separator: "-"))) (1)"]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ title: String, _ arguments: [CommandDescription.Argument]) -> [String] {
    guard !arguments.isEmpty else { return [] }
    var lines = [".SH \(title)"]
    for argument in arguments {
      let value = argument.kind == .flag ? "" : " \\fI\(escaped(argument.valueName ?? "value"))\\fR"
      let names = (argument.names ?? []).map { "\\fB\(escaped($0.text))\\fR" }.joined(separator: ", ")
      lines += [".TP", names + (names.isEmpty ? String(value.dropFirst()) : value)]
      for text in [argument.abstract, argument.discussion] { lines += paragraphs(text ?? "") }
      if let standard = argument.defaultValue { lines.append("The default is \(escaped(standard)).") }
    }
    return lines
  }

  private static func synopsis(_ argument: CommandDescription.Argument) -> String {
    let value = argument.kind == .flag ? "" : " \\fI\(escaped(argument.valueName ?? "value"))\\fR"
    let name = argument.preferredName.map { "\\fB\(escaped($0.text))\\fR" } ?? ""
    let whole = (name.isEmpty ? String(value.dropFirst()) : name + value) + (argument.isRepeating ? " ..." : "")
    return argument.isOptional ? "[\(whole)]" : whole
  }

  private static func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n").map { escaped(String($0)) }
  }

  /// Text without characters that `man` interprets.
  private static func escaped(_ text: String) -> String {
    let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
  }
}

extension CommandDescription {
  /// The commands within this one, without the program's own help.
  fileprivate var shownCommands: [CommandDescription] {
    (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
  }

  fileprivate var shownArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}

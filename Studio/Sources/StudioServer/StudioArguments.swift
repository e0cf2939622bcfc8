/// The arguments of the studio's programs.
///
/// People call `persist studio`, which explains and checks its arguments, and starts a program with these. The programs
/// parse them without a package, so that they are built quickly.
package struct StudioArguments: Equatable, Sendable {
  /// An error in the arguments, in words.
  package struct Mistake: Error, Equatable {
    package let words: String
  }

  package var store = ""
  package var models: String?
  package var isWritable = false
  package var port = 0
  package var keyFile: String?
  package var keyVariable: String?
  package var hasRawKey = false
  /// A folder with the page's files, for work on the page.
  package var page: String?

  /// Reads arguments, whose options may have their values after `=` or as the next argument.
  package init(_ arguments: some Sequence<String>) throws(Mistake) {
    var rest = Array(arguments)[...]
    var stores: [String] = []
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument != "-" else {
        stores.append(argument)
        continue
      }
      if argument == "--" {
        stores += rest
        break
      }
      try read(argument, &rest)
    }
    guard let store = stores.first else { throw Mistake(words: "A store is missing.") }
    guard stores.count == 1 else { throw Mistake(words: "There is an argument too many: '\(stores[1])'.") }
    self.store = store
  }

  /// Reads an option, and its value from the arguments after it.
  private mutating func read(_ argument: String, _ rest: inout ArraySlice<String>) throws(Mistake) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    func value() throws(Mistake) -> String {
      if parts.count == 2 { return parts[1] }
      guard let next = rest.popFirst() else { throw Mistake(words: "\(name) needs a value.") }
      return next
    }
    switch name {
    case "--models": models = try value()
    case "--port": port = try Self.port(value())
    case "--key-file": keyFile = try value()
    case "--key-env": keyVariable = try value()
    case "--page": page = try value()
    case "--write" where parts.count == 1: isWritable = true
    case "--raw-key" where parts.count == 1: hasRawKey = true
    case "--write", "--raw-key": throw Mistake(words: "\(name) has no value.")
    default: throw Mistake(words: "There is no option '\(name)'.")
    }
  }

  private static func port(_ text: String) throws(Mistake) -> Int {
    guard let port = Int(text), (0...65535).contains(port) else {
      throw Mistake(words: "--port is a number from 0 to 65535, not '\(text)'.")
    }
    return port
  }
}

extension StudioArguments {
  /// The help of a program.
  package static func help(of program: String) -> String {
    """
    Look into a store in the browser: rows, objects, the model, migrations, changes.

    Usage: \(program) <store> [options]

    Prints an address to open in a browser on this machine. It contains a key;
    nobody without it can see the store. Without --write, no byte of the store
    changes. Ends with Control-C.

      --models <path>       A folder with models, or one model; by default the
                            store's embedded model is used.
      --write               Allow the page to change objects.
      --port <number>       The port; by default a free one.
      --key-file <file>     A file with the passphrase of an encrypted store.
      --key-env <variable>  An environment variable with the passphrase.
      --raw-key             The key file contains a raw key of 32 bytes, or of 48
                            with the salt.
      -h, --help            Show this.

    """
  }
}

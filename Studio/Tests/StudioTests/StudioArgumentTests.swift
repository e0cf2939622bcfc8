import StudioServer
import Testing

@Suite("The arguments of the studio's programs")
struct StudioArgumentTests {
  @Test("Options have their values after = or as the next argument, in any order")
  func options() throws {
    let arguments = try StudioArguments([
      "--models=My Models", "--write", "Shop.sqlite", "--port", "8080", "--key-file", "a=b", "--raw-key",
    ])
    #expect(arguments.store == "Shop.sqlite" && arguments.models == "My Models" && arguments.port == 8080)
    #expect(arguments.isWritable && arguments.hasRawKey && arguments.keyFile == "a=b")
    #expect(arguments.keyVariable == nil && arguments.page == nil)
    let plain = try StudioArguments(["--key-env=KEY", "--", "--odd"])
    #expect(plain.store == "--odd" && plain.port == 0 && plain.keyVariable == "KEY" && !plain.isWritable)
  }

  @Test("Mistakes are named", arguments: [
    ([], "A store is missing."),
    (["--models", "M"], "A store is missing."),
    (["a", "b"], "There is an argument too many: 'b'."),
    (["a", "--port", "many"], "--port is a number from 0 to 65535, not 'many'."),
    (["a", "--port=70000"], "--port is a number from 0 to 65535, not '70000'."),
    (["a", "--port"], "--port needs a value."),
    (["a", "--prot", "1"], "There is no option '--prot'."),
    (["a", "-w"], "There is no option '-w'."),
    (["a", "--write=yes"], "--write has no value."),
  ])
  func mistakes(_ arguments: [String], words: String) {
    let mistake = #expect(throws: StudioArguments.Mistake.self) { try StudioArguments(arguments) }
    #expect(mistake?.words == words)
  }

  @Test("The help lists every option")
  func help() throws {
    let help = StudioArguments.help(of: "persist-studio")
    #expect(help.contains("Usage: persist-studio <store>"))
    for match in help.matches(of: #/(--[a-z-]+)(\ <[a-z]+>)?\ \ /#) where match.1 != "--help" {
      let value = match.2 == nil ? [] : ["1"]
      #expect(throws: Never.self, "\(match.1)") { try StudioArguments([String(match.1)] + value + ["a"]) }
    }
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }
}

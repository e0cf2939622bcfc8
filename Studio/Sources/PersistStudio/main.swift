import StudioServer

/// The program `persist-studio`: a page in the browser for looking into a store in a file.
await StudioProgram(named: "persist-studio").run(CommandLine.arguments.dropFirst())

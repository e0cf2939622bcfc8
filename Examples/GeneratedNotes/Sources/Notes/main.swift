import Foundation
import Persist

let file = Bundle.module.bundleURL.appendingPathComponent("Notes.xcdatamodeld")
let registry = try ModelRegistry(contentsOf: file)
try NotesEntityClasses.all.check(against: registry.current)
NotesEntityClasses.all.register()

let store = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID()).sqlite")
let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
try coordinator.addStore(at: store)
let context = ManagedObjectContext(coordinator)

let label = Label(context: context)
label.name = "Kitchen"
for text in ["Buy tea", "Descale the kettle"] {
  let note = Note(context: context)
  note.text = text
  note.addToLabels(label)
}
try context.save()
print(label.summary)
for note in try context.fetch(Note.fetchRequest()) { print(note.text, note.isPinned) }

#include "ui/docks/dock_context.h"

namespace fusescope {

void goTo(const DockContext& context, const QString& name, const QObject* source) {
  const auto snapshot = context.document.snapshot();
  if (!snapshot) return;
  if (!snapshot->nodesNamed(name.toStdString()).empty() || snapshot->fusedWith(name.toStdString()) != nullptr)
    return selectNamed(context.selection, *snapshot, {name}, source);
  // The name may be in a body: a full name, or a name in the body of the present selection.
  const auto here = snapshot->inside(context.selection.inside());
  for (const std::string& full :
       {name.toStdString(), here ? here->place.bodies.of(name.toStdString()) : name.toStdString()})
    if (const auto inside = snapshot->inside(full)) return context.selection.set({inside->holder}, source, full);
}

}  // namespace fusescope

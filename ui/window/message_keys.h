#pragma once

#include <QString>

namespace fusescope {

// Of messages about the model that is open, which go when another one is opened.
inline const QString kDroppedKey = QStringLiteral("dropped");
inline const QString kRecipeKey = QStringLiteral("recipe");
inline const QString kJobKey = QStringLiteral("job");
inline const QString kProgramKey = QStringLiteral("program");
inline const QString kFilesKey = QStringLiteral("files of engines");

}  // namespace fusescope

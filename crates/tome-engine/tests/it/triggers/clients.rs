//! Sessions of each agent, in drafts of the shapes that its hooks give.

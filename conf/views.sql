-- make sql begins with these: the tables of an output as views, so that queries read the same for folders and for a catalog.
CREATE OR REPLACE TEMPORARY VIEW extractions USING delta OPTIONS (path '${output}/extractions');
CREATE OR REPLACE TEMPORARY VIEW warc_files USING delta OPTIONS (path '${output}/warc_files');
CREATE OR REPLACE TEMPORARY VIEW runs USING delta OPTIONS (path '${output}/runs');
